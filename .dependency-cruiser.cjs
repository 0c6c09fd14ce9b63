/**
 * Which way imports may run: routes -> service -> repository -> db, HTTP and SQL never in one file, and the ground floor
 * (words, errors, time, ids) below all.
 *
 * Kept by `npm run check:dependencies`. Every rule here has a test that breaks it (test/house.test.ts), so a new rule needs one.
 * Type-only imports count as well: a service that names a request's type already knows about HTTP.
 */

/** A package, whether it was found or not, and however deep a subpath of it. */
const npm = (name) => `(^|/)node_modules/${name}/|^${name}(/|$)`

const FASTIFY = [npm('fastify'), npm('fastify-plugin'), npm('@fastify/[^/]+')]
const DRIZZLE = npm('drizzle-orm')
// Reading the addon's package.json, to guard against a version that crashes, loads nothing of it.
const SQLITE = '(^|/)node_modules/better-sqlite3/(?!package[.]json)|^better-sqlite3$'

const ROUTES = '^src/.+/routes[.]ts$'
const SERVICE = '^src/.+/service[.]ts$'
const REPOSITORY = '^src/.+/repository[.]ts$'
const SCHEMAS = '^src/.+/schemas[.]ts$'

/** @type {import('dependency-cruiser').IConfiguration} */
module.exports = {
  forbidden: [
    {
      name: 'http-without-database',
      comment: 'src/http/ translates between HTTP and services; what it needs from tables, a service gives it.',
      severity: 'error',
      from: { path: '^src/http/' },
      to: { path: [DRIZZLE, SQLITE, '^src/db/', REPOSITORY] }
    },
    {
      name: 'database-without-http',
      comment: 'src/db/ is tables and a connection; it must open without a server.',
      severity: 'error',
      from: { path: '^src/db/' },
      to: { path: [...FASTIFY, '^src/http/', ROUTES] }
    },
    {
      name: 'database-is-the-ground',
      comment: 'Imports run down to src/db/, never up from it.',
      severity: 'error',
      from: { path: '^src/db/' },
      to: { path: [SERVICE, REPOSITORY, '^src/cli/', '^src/(app|index)[.]ts$'] }
    },
    {
      name: 'rules-without-http',
      comment:
        'Services and repositories are called by routes, tests and the command line alike: no request, no reply, no status.',
      severity: 'error',
      from: { path: [SERVICE, REPOSITORY] },
      to: { path: [...FASTIFY, '^src/http/', ROUTES] }
    },
    {
      name: 'routes-through-services',
      comment:
        'A route reads the request, calls one service method and sends the answer; queries and transactions are below it.',
      severity: 'error',
      from: { path: ROUTES },
      to: { path: [REPOSITORY, DRIZZLE, SQLITE, '^src/db/'] }
    },
    {
      name: 'queries-in-repositories',
      comment: 'A service opens the transaction and decides; the SQL is in a repository, one query a function.',
      severity: 'error',
      from: { path: SERVICE },
      to: { path: [DRIZZLE, SQLITE] }
    },
    {
      name: 'repositories-below-services',
      comment: 'A repository answers queries; it decides nothing, so it calls no service.',
      severity: 'error',
      from: { path: REPOSITORY },
      to: { path: SERVICE }
    },
    {
      name: 'schemas-are-only-shapes',
      comment:
        'A schemas.ts says what stands on the wire and nothing else: TypeBox, wire.ts, vocabulary.ts, assumptions.ts, other schemas.ts.',
      severity: 'error',
      from: { path: SCHEMAS },
      to: { pathNot: [npm('@sinclair/typebox'), '^src/(wire|vocabulary|assumptions)[.]ts$', SCHEMAS] }
    },
    {
      name: 'ground-floor',
      comment:
        'Words, errors, time, ids and the wire helpers are what everything stands on; they stand on no folder of ours.',
      severity: 'error',
      from: { path: '^src/(vocabulary|errors|clock|ids|wire)[.]ts$' },
      to: { path: '^src/[^/]+/' }
    },
    {
      name: 'source-stands-alone',
      comment: 'What is published cannot import tests, measurements or build scripts.',
      severity: 'error',
      from: { path: '^src/' },
      to: { path: '^(test|bench|scripts|dist)/' }
    },
    {
      name: 'no-dev-dependencies',
      comment: 'Whoever installs the package does not get its devDependencies.',
      severity: 'error',
      from: { path: '^src/' },
      to: { dependencyTypes: ['npm-dev'] }
    },
    {
      name: 'resolvable',
      comment: 'An import that leads nowhere, or to a package that is not in package.json, escapes every other rule.',
      severity: 'error',
      from: {},
      to: { dependencyTypes: ['npm-no-pkg', 'npm-unknown', 'unknown', 'undetermined'] }
    },
    {
      name: 'no-cycles',
      comment: 'Two files that need each other are one thing, or miss a third.',
      severity: 'error',
      from: {},
      to: { circular: true }
    },
    {
      name: 'no-orphans',
      comment: 'A file that nothing imports and that imports nothing is dead, but for the two entry points.',
      severity: 'error',
      from: { orphan: true, pathNot: ['^src/index[.]ts$', '^src/cli/index[.]ts$', '[.]d[.]ts$'] },
      to: {}
    }
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    combinedDependencies: false,
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'node', 'types', 'default'],
      extensions: ['.ts', '.d.ts', '.js', '.mjs', '.cjs', '.json']
    }
  }
}
