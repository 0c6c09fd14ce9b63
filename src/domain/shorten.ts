/** Cuts a text that is longer than `length` characters, and adds `…`. */
export const shorten = (text: string, length: number) =>
  text.length > length ? `${text.slice(0, length)}…` : text
