import type { Series } from './outcome.js'

const WIDTH = 880
const HEIGHT = 460
const FRAME = { left: 78, right: 660, top: 52, bottom: 396 }
const LABEL_HEIGHT = 17

/** Distinct in light and in dark, and by the dashes without colours. */
const COLOURS = ['#1f77d0', '#d9730d', '#2a9d5c', '#c4458f', '#8a63d2', '#b08900', '#0f9aa8', '#d64545', '#7a8794']
const DASHES = ['', '7 3', '2 3']

/** The series as SVG, both axes logarithmic, legible on light and dark; lines are named at their right ends. */
export function chartOf({ title, x, y, lines }: Series): string {
  const points = lines.flatMap((line) => line.points)
  const across = scale(
    points.map(([value]) => value),
    FRAME.left,
    FRAME.right
  )
  const up = scale(
    points.map(([, value]) => value),
    FRAME.bottom,
    FRAME.top
  )
  const labels = spread(lines.map((line) => up.at(line.points.at(-1)?.[1] ?? 1)))
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="${escaped(title)}">
<style>
  svg { background: #ffffff; font: 13px system-ui, sans-serif }
  text { fill: #24292f } .grid { stroke: #d0d7de } .title { font-weight: 600; font-size: 15px } .line { fill: none; stroke-width: 2 }
  @media (prefers-color-scheme: dark) { svg { background: #0d1117 } text { fill: #e6edf3 } .grid { stroke: #30363d } }
</style>
<text class="title" x="${FRAME.left}" y="26">${escaped(title)}</text>
${up.ticks.map((tick) => `<path class="grid" d="M${FRAME.left} ${coordinate(up.at(tick))}H${FRAME.right}"/>${text(FRAME.left - 8, up.at(tick) + 4, short(tick), 'end')}`).join('\n')}
${across.ticks.map((tick) => `<path class="grid" d="M${coordinate(across.at(tick))} ${FRAME.top}V${FRAME.bottom}"/>${text(across.at(tick), FRAME.bottom + 20, short(tick), 'middle')}`).join('\n')}
${text((FRAME.left + FRAME.right) / 2, FRAME.bottom + 46, x, 'middle')}
<text transform="translate(20 ${(FRAME.top + FRAME.bottom) / 2}) rotate(-90)" text-anchor="middle">${escaped(y)}</text>
${lines.map((line, index) => lineOf(line, index)).join('\n')}
</svg>
`

  function lineOf(line: Series['lines'][number], index: number): string {
    const colour = COLOURS[index % COLOURS.length]
    const dash = DASHES[index % DASHES.length]
    const path = line.points.map(([px, py]) => `${coordinate(across.at(px))} ${coordinate(up.at(py))}`).join('L')
    const end = up.at(line.points.at(-1)?.[1] ?? 1)
    const label = labels[index] ?? end
    const stroke = `stroke="${colour}"${dash ? ` stroke-dasharray="${dash}"` : ''}`
    return [
      `<path class="line" ${stroke} d="M${path}"/>`,
      `<path ${stroke} fill="none" d="M${FRAME.right + 3} ${coordinate(end)}L${FRAME.right + 22} ${coordinate(label)}h10"/>`,
      text(FRAME.right + 38, label + 4, line.name, 'start')
    ].join('')
  }
}

interface Scale {
  at(value: number): number
  ticks: number[]
}

/** Logarithmic, from the power of ten below the least value to the one above the greatest. */
function scale(values: readonly number[], from: number, to: number): Scale {
  const least = Math.floor(Math.log10(Math.min(...values)))
  const most = Math.max(least + 1, Math.ceil(Math.log10(Math.max(...values))))
  return {
    at: (value) => from + ((Math.log10(value) - least) / (most - least)) * (to - from),
    ticks: Array.from({ length: most - least + 1 }, (_, step) => 10 ** (least + step))
  }
}

/** Moves labels apart that would lie upon each other, in the order that they have, and keeps them in the frame. */
function spread(heights: readonly number[]): number[] {
  const order = heights.map((height, index) => ({ height, index })).toSorted((a, b) => b.height - a.height)
  let lowest = FRAME.bottom
  for (const label of order) {
    label.height = Math.min(label.height, lowest)
    lowest = label.height - LABEL_HEIGHT
  }
  return order.toSorted((a, b) => a.index - b.index).map(({ height }) => height)
}

function text(x: number, y: number, words: string, anchor: 'start' | 'middle' | 'end'): string {
  return `<text x="${coordinate(x)}" y="${coordinate(y)}" text-anchor="${anchor}">${escaped(words)}</text>`
}

function short(value: number): string {
  return value.toLocaleString('en')
}

function coordinate(value: number): string {
  return value.toFixed(1)
}

function escaped(words: string): string {
  return words.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;')
}
