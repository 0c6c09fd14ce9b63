import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'
import notLoaded from './not-loaded.js'

const files = (process.env.MUTATION_TESTS ?? '').split(',')

/** In the order in which the files are given: what finds most comes first. */
class GivenOrder extends BaseSequencer {
  override async sort(specifications: TestSpecification[]): Promise<TestSpecification[]> {
    const indexOf = ({ moduleId }: TestSpecification) =>
      files.findIndex((file) => moduleId.endsWith(file))
    return specifications.toSorted((one, other) => indexOf(one) - indexOf(other))
  }
}

/** How Stryker runs the tests, in its copy of the project. `MUTATION_TESTS` has the files, with commas between. */
export default defineConfig({
  test: {
    globalSetup: 'test/support/run-folder.ts',
    include: files,
    sequence: { sequencer: GivenOrder },
    reporters: [notLoaded()],
    // Stryker makes a text of it, which an object that comes from another process has not.
    onUnhandledError: (error) => void Object.setPrototypeOf(error, Error.prototype),
    setupFiles: 'test/mutation/dry-run.ts',
    // A mutant that never answers is caught by this.
    testTimeout: 40_000,
    hookTimeout: 40_000
  }
})
