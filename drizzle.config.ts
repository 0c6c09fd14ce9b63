import { defineConfig } from 'drizzle-kit'

/**
 * Configures `npm run db:generate`, which writes migrations. The server applies the migrations with
 * drizzle's migrator.
 */
export default defineConfig({
  dialect: 'sqlite',
  schema: './src/db/schema.ts',
  // `npm run db:check` generates migrations into a copy of the migrations folder, to find out
  // whether a migration is missing.
  out: process.env.MIGRATIONS_FOLDER ?? './migrations'
})
