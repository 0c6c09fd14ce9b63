const COLORS = ['2f6f64', '3b5b6d', '7a8f6a', '8c6f5a', 'a23b3b', 'b5651d']

/**
 * Returns a data URL with a square picture of the text. A data URL loads without a network. The
 * number determines the color.
 */
export function createPicture(text: string, number: number): string {
  const color = COLORS[number % COLORS.length]
  const svg =
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 64 64">' +
    `<rect width="64" height="64" fill="#${color}"/>` +
    '<text x="32" y="42" font-family="sans-serif" font-size="26" fill="#fff" ' +
    `text-anchor="middle">${text}</text></svg>`
  return `data:image/svg+xml,${encodeURIComponent(svg)}`
}
