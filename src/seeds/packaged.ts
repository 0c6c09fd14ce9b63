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
  return packagedNames().map((name) => {
    // The first sentence of the comment that it begins with.
    const text = readFileSync(packagedPath(name), 'utf8')
    const [, sentence = ''] = /^\n# (?:Take it )?((?:.|\n# )*?)\.\s/m.exec(text) ?? []
    return { name, description: sentence.replaceAll('\n# ', ' ') }
  })
}
