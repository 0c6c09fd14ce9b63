/** Returns the line of each value of a JSON text, from 1, by its path, such as `steps[0].type`. */
export function linesOfJson(text: string): Map<string, number> {
  const lines = new Map<string, number>()
  const open: { path: string; index?: number }[] = []
  let name: string | undefined
  for (const { 0: token, index } of text.matchAll(/"(?:[^"\\]|\\.)*"|[{}[\],]|[^\s{}[\],:"]+/g)) {
    const top = open.at(-1)
    if (token === '}' || token === ']') open.pop()
    else if (token === ',') {
      if (top?.index !== undefined) top.index += 1
    } else if (top && top.index === undefined && name === undefined) name = JSON.parse(token) as string
    else {
      const place = top?.index === undefined ? `.${name}` : `[${top.index}]`
      const path = top ? `${top.path}${place}`.replace(/^\./, '') : ''
      lines.set(path, text.slice(0, index).split('\n').length)
      name = undefined
      if (token === '{') open.push({ path })
      else if (token === '[') open.push({ path, index: 0 })
    }
  }
  return lines
}

/** Returns the line of a path, or of the next one above it that is there. */
export function placeOf(lines: Map<string, number>, path: string): number {
  const line = lines.get(path)
  return line ?? (path === '' ? 1 : placeOf(lines, path.replace(/(\.|\[|^)[^.[]*$/, '')))
}
