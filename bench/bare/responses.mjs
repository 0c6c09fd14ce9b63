import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** Reads the mock server's responses, which the benchmark saved in `folder`. */
export function readResponses(folder) {
  return {
    list: readFileSync(join(folder, 'list.json')),
    step: readFileSync(join(folder, 'step.json')),
    primary: readFileSync(join(folder, 'primary.json'))
  }
}

export const JSON_TYPE = 'application/json; charset=utf-8'
