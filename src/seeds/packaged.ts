import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { packageRoot } from '../core/package.js'

const folder = () => join(packageRoot(), 'seeds')

export const packagedPath = (name: string) => join(folder(), `${name}.yaml`)

/** Returns the names of the seeds that come with the package, the default first. */
export function packagedNames(): string[] {
  return readdirSync(folder())
    .flatMap((file) => /^(.+)\.yaml$/.exec(file)?.[1] ?? [])
    .sort((one, other) => Number(other === 'default') - Number(one === 'default') || one.localeCompare(other))
}

/** Reads what the seeds that come with the package are called and for, the default first. */
export function readPackagedSeeds(): { name: string; description: string }[] {
  return packagedNames().map((name) => ({ name, description: firstSentence(readFileSync(packagedPath(name), 'utf8')) }))
}

/** Returns the first sentence of the comment that a seed begins with, without `Take it`. */
function firstSentence(text: string): string {
  const comment = /^\n((?:# .*\n)+)/m.exec(text)?.[1]?.replaceAll(/^# /gm, '').replaceAll('\n', ' ')
  const [sentence = ''] = comment?.split(/(?<=\.) /) ?? []
  return sentence.replace(/^Take it /, '').replace(/\.? *$/, '')
}
