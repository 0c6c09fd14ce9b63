import type { Reporter, Vitest } from 'vitest/node'

/**
 * A reporter for vitest that makes an error of a test file that could not be loaded. Stryker looks at tests alone, and
 * would take a file that has none, as its imports throw, for one that found nothing wrong.
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
