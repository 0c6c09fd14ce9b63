import { availableParallelism } from 'node:os'
import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    globalSetup: 'test/support/run-folder.ts',
    // `npm test` runs the project "quick". `npm run test:full` runs both projects.
    projects: [
      {
        extends: true,
        test: {
          name: 'quick',
          include: ['test/**/*.test.ts'],
          exclude: ['test/**/*.full.test.ts']
        }
      },
      // Tests that kill processes, use a browser or install packages. They start after the quick
      // tests.
      {
        extends: true,
        test: {
          name: 'full',
          include: ['test/**/*.full.test.ts'],
          sequence: { groupOrder: 1 },
          // Use at least three workers, even on CI's two cores, because these tests spend a third
          // of their time waiting.
          maxWorkers: Math.max(3, availableParallelism() - 1),
          testTimeout: 180_000,
          hookTimeout: 180_000,
          // CI machines are shared, so browsers and installs may time out there. The log lists
          // retried tests.
          retry: process.env.CI ? 1 : 0,
          expect: { poll: { timeout: 20_000 } }
        }
      }
    ],
    // Use processes instead of threads, so that a crash of the database addon ends only its own
    // test file.
    pool: 'forks',
    // A larger young generation means fewer garbage collections, which saves 6% of the run time.
    execArgv: ['--max-semi-space-size=64'],
    // Test files in the same process share their imports. They also share servers, which are reset
    // between tests (test/support/mock.ts).
    isolate: false,
    // Use at least two workers, because many tests wait for a process. Vitest's default for two
    // cores is one worker.
    maxWorkers: Math.max(2, availableParallelism() - 1),
    // The timeouts are generous for busy machines.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    reporters: ['default'],
    coverage: {
      include: ['src/**/*.ts'],
      reporter: ['text', 'html']
    }
  }
})
