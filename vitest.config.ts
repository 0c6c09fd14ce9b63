import { availableParallelism } from 'node:os'
import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    globalSetup: 'test/support/run-folder.ts',
    // `npm test` runs the quick project, `npm run test:full` both.
    projects: [
      {
        extends: true,
        test: {
          name: 'quick',
          include: ['test/**/*.test.ts'],
          exclude: ['test/**/*.full.test.ts']
        }
      },
      // Tests that kill processes, drive a browser or install packages. They start after the quick ones.
      {
        extends: true,
        test: {
          name: 'full',
          include: ['test/**/*.full.test.ts'],
          sequence: { groupOrder: 1 },
          // One more than the two cores of CI, because a third of the time these tests wait.
          maxWorkers: Math.max(3, availableParallelism() - 1),
          testTimeout: 180_000,
          hookTimeout: 180_000,
          // CI machines are shared, and browsers and installs time out there. The log lists retried tests.
          retry: process.env.CI ? 1 : 0,
          expect: { poll: { timeout: 20_000 } }
        }
      }
    ],
    // Processes, not threads, so that a crash of the database addon ends only its own test file.
    pool: 'forks',
    // Test files in one process share imports, and servers that are reset between tests (support/mock.ts).
    isolate: false,
    // At least two: Vitest would use one of two cores, and many tests wait for a process.
    maxWorkers: Math.max(2, availableParallelism() - 1),
    // Generous, for busy machines.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    reporters: ['default'],
    coverage: {
      include: ['src/**/*.ts'],
      reporter: ['text', 'html']
    }
  }
})
