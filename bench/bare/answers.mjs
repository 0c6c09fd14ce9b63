import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** The bytes that our server sent for each operation, from the folder that the bench has put them into. */
export function answersIn(folder) {
  return {
    list: readFileSync(join(folder, 'list.json')),
    step: readFileSync(join(folder, 'step.json')),
    primary: readFileSync(join(folder, 'primary.json'))
  }
}

export const JSON_TYPE = 'application/json; charset=utf-8'
