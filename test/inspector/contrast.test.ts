import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

const css = ['tokens.css', 'style.css']
  .map((name) => readFileSync(new URL(`../../src/inspector/${name}`, import.meta.url), 'utf8'))
  .join('')

/** Returns a theme's colors, keyed by the names of their tokens. */
const tokens = (theme: 'light' | 'dark') =>
  new Map(
    [...css.matchAll(/--([\w-]+): light-dark\((#\w{6}), (#\w{6})\)/g)].map(
      ([, name = '', light = '', dark = '']) => [name, theme === 'light' ? light : dark]
    )
  )

const TONES = ['good', 'warn', 'bad', 'fault', 'accent']
/**
 * Each text color with a surface on which it occurs. `soft <tone>` is the background of a chip or
 * callout.
 */
const PAIRS: readonly (readonly [text: string, surface: string])[] = [
  ...['text', 'muted', ...TONES].flatMap((text) =>
    ['page', 'surface', 'sunk', 'accent-soft'].map((surface) => [text, surface] as const)
  ),
  ...[...TONES, 'muted'].flatMap((tone) =>
    [tone, 'text', 'muted'].map((text) => [text, `soft ${tone}`] as const)
  ),
  ...TONES.map((text) => [text, 'soft warn'] as const),
  ['on-accent', 'accent'],
  ['page', 'text']
]

test.each(['light', 'dark'] as const)(
  'every text color has a contrast of at least 4.5 in the %s theme',
  (theme) => {
    const colors = tokens(theme)
    const share =
      Number(
        /color-mix\(in srgb, var\(--tone, var\(--muted\)\) (\d+)%, var\(--surface\)\)/.exec(
          css
        )?.[1]
      ) / 100
    const colorOf = (name: string): string => {
      const [, tone] = /^soft (.+)/.exec(name) ?? []
      if (tone !== undefined) return mixed(colorOf(tone), colorOf('surface'), share)
      return colors.get(name) ?? expect.fail(`there is no token ${name}`)
    }
    const tooFaint = PAIRS.map(([text, surface]) => ({
      pair: `${text} on ${surface}`,
      contrast: contrast(colorOf(text), colorOf(surface))
    })).filter(({ contrast }) => contrast < 4.5)
    expect(tooFaint).toEqual([])
  }
)

/** Returns the WCAG 2 contrast ratio, from 1 to 21. */
function contrast(one: string, other: string): number {
  const [dark = 0, light = 0] = [luminance(one), luminance(other)].sort((a, b) => a - b)
  return (light + 0.05) / (dark + 0.05)
}

/** Mixes two colors as CSS does with `color-mix(in srgb, …)`. `share` is the weight of `one`. */
function mixed(one: string, other: string, share: number): string {
  const parts = [1, 3, 5].map((at) => {
    const [a = 0, b = 0] = [one, other].map((color) => Number.parseInt(color.slice(at, at + 2), 16))
    return Math.round(a * share + b * (1 - share))
  })
  return `#${parts.map((part) => part.toString(16).padStart(2, '0')).join('')}`
}

function luminance(color: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
    const part = Number.parseInt(color.slice(at, at + 2), 16) / 255
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4
  })
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}
