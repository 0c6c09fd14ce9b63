/**
 * Decodes text in UTF-8 or, if it starts with a byte order mark, in UTF-16. Windows tools write
 * both encodings. The result never contains the mark. Throws `TypeError` for other bytes.
 */
export function decodeText(bytes: Uint8Array): string {
  return new TextDecoder(encodingOf(bytes), { fatal: true }).decode(bytes)
}

function encodingOf([first, second]: Uint8Array): string {
  if (first === 0xff && second === 0xfe) return 'utf-16le'
  return first === 0xfe && second === 0xff ? 'utf-16be' : 'utf-8'
}
