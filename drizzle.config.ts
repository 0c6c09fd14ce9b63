import { defineConfig } from 'drizzle-kit'

/**
 * Configures `npm run db:generate`, which writes migrations. The server applies the migrations with
 * drizzle's migrator.
 */
export default defineConfig({
  dialect: 'sqlite',
  schema: './src/db/schema.ts',
  // To check for missing migrations, `npm run db:check` generates migrations into a copy of this
  // folder.
  out: process.env.MIGRATIONS_FOLDER ?? './migrations'
})
