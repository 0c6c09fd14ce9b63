import { existsSync } from 'node:fs'
import { win32 } from 'node:path'

/** What to spawn on Windows, and whether its arguments are quoted already. */
export interface WindowsCommand {
  file: string
  args: readonly string[]
  windowsVerbatimArguments: boolean
}

type Variables = Record<string, string | undefined>

/**
 * Returns how a command is run on Windows. A script, as npm and npx are, can only be run by `cmd`, which finds none of its
 * own characters in an argument then: each arrives as it was given.
 */
export function windowsCommand(
  [file = '', ...args]: readonly string[],
  variables: Variables = process.env,
  exists: (path: string) => boolean = existsSync
): WindowsCommand {
  const found = foundIn(file, variables, exists)
  if (found === undefined || !/\.(cmd|bat)$/i.test(found)) return { file, args, windowsVerbatimArguments: false }
  // The scripts there hand their arguments to a second line, which reads them as cmd does again.
  const isRead = /node_modules[\\/]\.bin[\\/]/i.test(found) ? 2 : 1
  const line = [escaped(win32.normalize(found), 1), ...args.map((each) => escaped(quoted(each), isRead))].join(' ')
  const shell = variables.ComSpec ?? 'cmd.exe'
  return { file: shell, args: ['/d', '/s', '/c', `"${line}"`], windowsVerbatimArguments: true }
}

/** Returns the file that cmd would run. */
function foundIn(file: string, variables: Variables, exists: (path: string) => boolean): string | undefined {
  const endings = (variables.PATHEXT ?? '.COM;.EXE;.BAT;.CMD').split(';').filter(Boolean)
  const hasEnding = endings.some((each) => file.toLowerCase().endsWith(each.toLowerCase()))
  const folders = /[\\/:]/.test(file) ? [''] : ['.', ...(variables.PATH ?? '').split(';').filter(Boolean)]
  const names = [...(hasEnding ? [file] : []), ...endings.map((each) => file + each)]
  return folders.flatMap((folder) => names.map((name) => win32.join(folder, name))).find(exists)
}

/** An argument in quotes, as programs read their command line: a backslash counts only before a quote. */
function quoted(argument: string): string {
  return `"${argument.replace(/(\\*)"/g, '$1$1\\"').replace(/(\\+)$/, '$1$1')}"`
}

/** Each character that cmd would take for its own, as itself, also when it is read that many times. */
function escaped(text: string, times: number): string {
  const once = text.replace(/[()\][%!^"`<>&|;, *?]/g, '^$&')
  return times > 1 ? escaped(once, times - 1) : once
}
