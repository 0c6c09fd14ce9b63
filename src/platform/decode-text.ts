/**
 * Decodes UTF-16 that starts with a byte order mark, as some Windows tools write it, and otherwise
 * UTF-8. Removes the byte order mark. Throws `TypeError` if the bytes aren't valid.
 */
export function decodeText(bytes: Uint8Array): string {
  return new TextDecoder(encodingOf(bytes), { fatal: true }).decode(bytes)
}

function encodingOf([first, second]: Uint8Array): string {
  if (first === 0xff && second === 0xfe) return 'utf-16le'
  return first === 0xfe && second === 0xff ? 'utf-16be' : 'utf-8'
}
