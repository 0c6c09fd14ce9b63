/**
 * Which way imports may run. Kept by `npm run check` (scripts/check-dependencies.mjs); each kind of rule has a test that breaks
 * it (test/dependency-rules.full.test.ts). Type-only imports count as well: a service that names a request's type already
 * knows about HTTP.
 */

/** The top of src/, from the surface down: each may import what stands below it, never what stands above or beside it. */
const LAYERS = [
  ['cli', 'fixtures', 'inspector'],
  ['index.ts'],
  ['client', 'server.ts'],
  ['app.ts'],
  ['lazy-loading.ts', 'lazy-routes.ts'],
  ['openapi'],
  ['control', 'remote'],
  ['operations.ts', 'services.ts'],
  ['seeds'],
  ['integrations', 'messages', 'workflow-steps'],
  ['coverage'],
  ['faults', 'idempotency'],
  ['journal'],
  ['environments'],
  ['config.ts', 'http'],
  ['db'],
  ['schema', 'platform'],
  ['domain']
]

/** The paths of entries of src/: a file, or all that is in a folder. */
const pathsOf = (names) =>
  names.map((name) =>
    name.endsWith('.ts') ? `^src/${name.replace('.', '[.]')}$` : `^src/${name}/`
  )

/** A package, whether it was found or not, and however deep a subpath of it. */
const npm = (name) => `(^|/)node_modules/${name}/|^${name}(/|$)`

const FASTIFY = [npm('fastify'), npm('fastify-plugin'), npm('@fastify/[^/]+')]
const DRIZZLE = npm('drizzle-orm')
// Reading the addon's package.json, to guard against a version that crashes, loads nothing of it.
const SQLITE = '(^|/)node_modules/better-sqlite3/(?!package[.]json)|^better-sqlite3$'

const ROUTES = '^src/.+/(routes|plugin)[.]ts$'
const SERVICE = '^src/.+/service[.]ts$'
const REPOSITORY = '^src/.+/repository[.]ts$'
const SCHEMAS = '^src/.+/schemas[.]ts$'

const layers = LAYERS.flatMap(
  (layer, index) =>
    layer.map((name) => ({
      name: `below-${name.replace('.ts', '')}`,
      comment: `src/${name} may import what stands below it in LAYERS (.dependency-cruiser.cjs), and itself.`,
      severity: 'error',
      from: { path: pathsOf([name]) },
      to: {
        path: pathsOf([
          ...LAYERS.slice(0, index).flat(),
          ...layer.filter((other) => other !== name)
        ])
      }
    }))
  // Nothing stands above the first one.
).filter(({ to }) => to.path.length > 0)

/** @type {import('dependency-cruiser').IConfiguration} */
module.exports = {
  layers: LAYERS,
  forbidden: [
    ...layers,
    {
      name: 'control-is-served-only',
      comment:
        'The control routes are a way in: the app registers them, openapi describes them, nothing else needs them.',
      severity: 'error',
      from: {
        path: '^src/',
        pathNot: [
          ...pathsOf(['app.ts', 'lazy-routes.ts', 'openapi', 'control', 'client']),
          '^src/cli/seed[.]ts$'
        ]
      },
      to: { path: pathsOf(['control']) }
    },
    {
      name: 'client-stands-alone',
      comment:
        'src/client/ runs in a browser: of the server it knows types, and it loads no module of Node or npm.',
      severity: 'error',
      from: { path: pathsOf(['client']) },
      to: { pathNot: pathsOf(['client']), dependencyTypesNot: ['type-only'] }
    },
    {
      name: 'inspector-by-the-client',
      comment:
        'src/inspector/ runs in a browser: it works the server through the client, and loads Preact and nothing else.',
      severity: 'error',
      from: { path: pathsOf(['inspector']) },
      to: {
        pathNot: [npm('preact'), ...pathsOf(['inspector', 'client'])],
        dependencyTypesNot: ['type-only']
      }
    },
    {
      name: 'targets-are-asked-by-http',
      comment:
        'Any server can be a target, ours as others: of the server the caller knows shapes (schemas.ts) and domain/ and schema/ alone.',
      severity: 'error',
      from: { path: '^src/remote/[^/]+[.]ts$' },
      to: {
        path: '^src/',
        pathNot: ['^src/remote/[^/]+[.]ts$', ...pathsOf(['domain', 'schema', 'platform']), SCHEMAS]
      }
    },
    {
      name: 'conformance-asks-by-http',
      comment:
        'src/remote/conformance/ judges by the contract: beside the caller it knows shapes and domain/ and schema/ alone.',
      severity: 'error',
      from: { path: '^src/remote/conformance/' },
      to: {
        path: '^src/',
        pathNot: [
          '^src/remote/([^/]+[.]ts$|conformance/)',
          ...pathsOf(['domain', 'schema', 'platform']),
          SCHEMAS
        ]
      }
    },
    {
      name: 'recording-without-judging',
      comment:
        'What src/remote/recording/ shares with the conformance suite stands in src/remote/ itself.',
      severity: 'error',
      from: { path: '^src/remote/recording/' },
      to: { path: '^src/remote/conformance/' }
    },
    {
      name: 'http-without-database',
      comment:
        'src/http/ translates between HTTP and services; what it needs from tables, a service gives it.',
      severity: 'error',
      from: { path: pathsOf(['http']) },
      to: { path: [DRIZZLE, SQLITE, ...pathsOf(['db'])] }
    },
    {
      name: 'database-without-http',
      comment: 'src/db/ is tables and a connection; it must open without a server.',
      severity: 'error',
      from: { path: pathsOf(['db']) },
      to: { path: FASTIFY }
    },
    {
      name: 'services-without-http',
      comment:
        'Services and repositories are called by routes, tests and the command line alike: no request, no status.',
      severity: 'error',
      from: { path: [SERVICE, REPOSITORY] },
      to: { path: [...FASTIFY, ...pathsOf(['http']), ROUTES] }
    },
    {
      name: 'routes-through-services',
      comment:
        'A route or plugin reads the request and calls a service; queries and transactions are below it.',
      severity: 'error',
      from: { path: ROUTES },
      to: { path: [REPOSITORY, DRIZZLE, SQLITE, ...pathsOf(['db'])] }
    },
    {
      name: 'queries-in-repositories',
      comment:
        'A service opens the transaction and decides; the SQL is in a repository, one query a function.',
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
        'A schemas.ts describes data and nothing else: it imports TypeBox, domain/ and schema/ and other schemas.ts.',
      severity: 'error',
      from: { path: SCHEMAS },
      to: {
        pathNot: [npm('@sinclair/typebox'), ...pathsOf(['domain', 'schema', 'platform']), SCHEMAS]
      }
    },
    {
      name: 'source-stands-alone',
      comment: 'What is published cannot import tests, measurements or build scripts.',
      severity: 'error',
      from: { path: '^src/' },
      to: { path: '^(test|bench|scripts|dist)/' }
    },
    {
      name: 'resolvable',
      comment:
        'An import that leads nowhere, or to a package that is not in package.json, escapes every other rule.',
      severity: 'error',
      from: {},
      // An optional peer counts as not in package.json too, where peerDependenciesMeta names it.
      to: {
        dependencyTypes: ['npm-no-pkg', 'npm-unknown', 'unknown', 'undetermined'],
        dependencyTypesNot: ['npm-peer']
      }
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
      comment:
        'A file that nothing imports and that imports nothing is dead, but for the two entry points.',
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
      extensions: ['.ts', '.tsx', '.d.ts', '.js', '.mjs', '.cjs', '.json']
    }
  }
}
