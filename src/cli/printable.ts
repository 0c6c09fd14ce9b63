/** A name or message as a terminal may print it: clients choose names, which could hold its escape codes. */
export function printable(text: string): string {
  return text.replace(/\p{Cc}/gu, (character) => encodeURIComponent(character))
}
