/** Returns a command line that sends a request, for a POSIX shell. */
export function curlOf(method: string, url: string, headers: Readonly<Record<string, string>>): string {
  const words = ['curl', ...(method === 'GET' ? [] : ['-X', method]), quoted(url)]
  for (const [name, value] of Object.entries(headers)) words.push('-H', quoted(`${name}: ${value}`))
  return words.join(' ')
}

/** Returns a text as one word of a POSIX shell. */
export function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`
}
