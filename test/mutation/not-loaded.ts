import type { Reporter, Vitest } from 'vitest/node'

/**
 * A Vitest reporter that fails the run if a test file can't be loaded. Stryker only looks at tests,
 * so a file whose imports throw would count as passed.
 */
export default function notLoaded(): Reporter {
  let vitest: Vitest | undefined
  return {
    onInit(context) {
      vitest = context
    },
    onTestModuleEnd(file) {
      for (const { message } of file.errors())
        vitest?.state.catchError(new Error(message), 'Test file that was not loaded')
    }
  }
}
