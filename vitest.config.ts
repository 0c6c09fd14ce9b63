import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    // Processes, not threads: a test that kills or crashes the database addon must take only its own file down.
    pool: 'forks',
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
