import { availableParallelism } from 'node:os'
import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    globalSetup: 'test/support/run-folder.ts',
    // `npm test` runs the first project, `npm run test:full` both.
    projects: [
      {
        extends: true,
        test: {
          name: 'quick',
          include: ['test/**/*.test.ts'],
          exclude: ['test/**/*.full.test.ts']
        }
      },
      // What storms, kills, drives a browser or installs packages. By itself: one such file is enough for two cores.
      {
        extends: true,
        test: {
          name: 'full',
          include: ['test/**/*.full.test.ts'],
          sequence: { groupOrder: 1 },
          // On two cores one more than there are cores: a third of their time they wait for servers, browsers and pauses.
          maxWorkers: Math.max(3, availableParallelism() - 1),
          testTimeout: 180_000,
          hookTimeout: 180_000,
          // Browsers, storms and installs on a machine that others use too. The log names what passed at the second time.
          retry: process.env.CI ? 1 : 0,
          expect: { poll: { timeout: 20_000 } }
        }
      }
    ],
    // Processes, not threads: a test that kills or crashes the database addon must take only its own file down.
    pool: 'forks',
    // Files that run in one process share what they import, and servers that are reset between tests (support/mock.ts).
    isolate: false,
    // On two cores vitest would leave one idle, and many tests wait for what they have started.
    maxWorkers: Math.max(2, availableParallelism() - 1),
    // For machines that are busy with other things; no test waits for so long by itself.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    reporters: ['default'],
    coverage: {
      include: ['src/**/*.ts'],
      reporter: ['text', 'html']
    }
  }
})
