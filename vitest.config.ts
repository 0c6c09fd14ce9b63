import { availableParallelism } from 'node:os'
import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    // Processes, not threads: a test that kills or crashes the database addon must take only its own file down.
    pool: 'forks',
    // On two cores vitest would leave one idle, and many tests wait for what they have started.
    maxWorkers: Math.max(2, availableParallelism() - 1),
    // Some tests start, kill and restart real servers, on machines with two cores.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    reporters: ['default'],
    coverage: {
      include: ['src/**/*.ts'],
      reporter: ['text', 'html']
    }
  }
})
