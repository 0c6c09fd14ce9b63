import type { Reporter, Vitest } from 'vitest/node'

/**
 * A Vitest reporter that fails the run if a test file can't be loaded. Stryker checks only the
 * results of tests, so it would ignore a file whose imports throw.
 */
export default function notLoaded(): Reporter {
  let vitest: Vitest | undefined
  return {
    onInit(context) {
      vitest = context
    },
    onTestModuleEnd(file) {
      for (const { message } of file.errors())
        vitest?.state.catchError(new Error(message), 'Test file failed to load')
    }
  }
}
