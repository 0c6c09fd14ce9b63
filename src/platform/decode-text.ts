/**
 * Decodes text as UTF-8, or as UTF-16 if it starts with a UTF-16 byte order mark, as files from
 * some Windows tools do. Removes the byte order mark. Throws `TypeError` if the bytes aren't valid.
 */
export function decodeText(bytes: Uint8Array): string {
  return new TextDecoder(encodingOf(bytes), { fatal: true }).decode(bytes)
}

function encodingOf([first, second]: Uint8Array): string {
  if (first === 0xff && second === 0xfe) return 'utf-16le'
  return first === 0xfe && second === 0xff ? 'utf-16be' : 'utf-8'
}
