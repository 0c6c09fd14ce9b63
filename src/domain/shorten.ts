/** Returns a text of at most `length` characters unchanged. Cuts off a longer text, and adds `…`. */
export const shorten = (text: string, length: number) =>
  text.length > length ? `${text.slice(0, length)}…` : text
