import { defineConfig } from 'drizzle-kit'

/** For writing migrations only (`npm run db:generate`): drizzle's migrator applies them at start, never the kit. */
export default defineConfig({
  dialect: 'sqlite',
  schema: './src/db/schema.ts',
  // Another folder only for `npm run db:check`, which writes into a copy to see whether anything would change.
  out: process.env.MIGRATIONS_FOLDER ?? './migrations'
})
