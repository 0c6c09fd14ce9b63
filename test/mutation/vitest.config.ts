import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'
import notLoaded from './not-loaded.js'

const files = (process.env.MUTATION_TESTS ?? '').split(',')

/**
 * Runs the files in the order of `MUTATION_TESTS`. The files that kill the most mutants come first.
 */
class ConfiguredOrder extends BaseSequencer {
  override async sort(specifications: TestSpecification[]): Promise<TestSpecification[]> {
    const indexOf = ({ moduleId }: TestSpecification) =>
      files.findIndex((file) => moduleId.endsWith(file))
    return specifications.toSorted((one, other) => indexOf(one) - indexOf(other))
  }
}

/**
 * Vitest's configuration in Stryker's copy of the project. `MUTATION_TESTS` lists the test files,
 * separated by commas.
 */
export default defineConfig({
  test: {
    globalSetup: 'test/support/run-folder.ts',
    include: files,
    sequence: { sequencer: ConfiguredOrder },
    reporters: [notLoaded()],
    // Vitest's workers send errors as objects without a prototype. Converting such an object to a
    // string, as Stryker does, would throw.
    onUnhandledError: (error) => {
      Object.setPrototypeOf(error, Error.prototype)
    },
    setupFiles: 'test/mutation/dry-run.ts',
    // A mutant can make a test wait forever. This timeout ends such a test.
    testTimeout: 40_000,
    hookTimeout: 40_000
  }
})
