/**
 * What the commands work with. They import it when they run, as `healthcheck` and `--help` need none of it; and all of it
 * from here, so that it is one file of the bundle: thirty take an eighth of a start longer to load.
 */
export { pino } from 'pino'
export { buildServices } from '../app.js'
export { replaceFile } from '../core/replace-file.js'
export { runInSlices } from '../core/slices.js'
export { openDatabase, toStartError } from '../db/open.js'
export { createMock } from '../index.js'
export { controlDocument, openApiDocument } from '../openapi/documents.js'
export { loadGenerator } from '../seeds/generate/load.js'
export { OUT_NAME, writeGenerated } from '../seeds/generate/out.js'
export { readSeeds, seedPath } from '../seeds/read.js'
export { resolveSeeds } from '../seeds/resolve/resolve.js'
export { LONG_PATIENCE } from '../targets/recording/asking.js'
export { compareAnswers } from '../targets/recording/compare.js'
export { questionsOfFile, questionsOfHar, questionsOfJournal, usualQuestions } from '../targets/recording/questions.js'
export { record } from '../targets/recording/record.js'
export { createTarget } from '../targets/target.js'
