/**
 * The import rules of src/. `npm run check` enforces them (scripts/check-dependencies.mjs), and
 * test/dependency-rules.full.test.ts checks that it reports violations. Most rules also apply to
 * type-only imports, because a service that imports a request's type depends on HTTP.
 */

/**
 * The files and folders of src/, top layer first. A file or folder may import itself and lower
 * layers, but nothing else in its own layer.
 */
const LAYERS = [
  ['cli', 'fixtures', 'inspector'],
  ['index.ts'],
  ['client', 'server.ts'],
  ['app.ts', 'default-database.ts'],
  ['lazy-loading.ts', 'lazy-routes.ts'],
  ['openapi'],
  ['control', 'remote'],
  ['services.ts'],
  ['seeds'],
  ['operations.ts'],
  ['integrations', 'messages', 'workflow-steps'],
  ['coverage', 'replay', 'stubs'],
  ['faults', 'idempotency'],
  ['journal'],
  ['environments'],
  ['config.ts', 'http'],
  ['db'],
  ['schema', 'platform'],
  ['domain']
]

/** Returns one pattern per name. It matches a file of src/, or everything in a folder of src/. */
const pathsOf = (names) =>
  names.map((name) =>
    name.endsWith('.ts') ? `^src/${name.replace('.', '[.]')}$` : `^src/${name}/`
  )

/** Returns a pattern for imports of a package or its subpaths, even if it isn't installed. */
const npm = (name) => `(^|/)node_modules/${name}/|^${name}(/|$)`

const FASTIFY = [npm('fastify'), npm('fastify-plugin'), npm('@fastify/[^/]+')]
const DRIZZLE = npm('drizzle-orm')
// Leave out the addon's package.json, because importing it doesn't load the addon.
const SQLITE = '(^|/)node_modules/better-sqlite3/(?!package[.]json)|^better-sqlite3$'

const ROUTES = '^src/.+/(routes|plugin)[.]ts$'
const SERVICE = '^src/.+/service[.]ts$'
const REPOSITORY = '^src/.+/repository[.]ts$'
const SCHEMAS = '^src/.+/schemas[.]ts$'

const layers = LAYERS.flatMap(
  (layer, index) =>
    layer.map((name) => ({
      name: `below-${name.replace('.ts', '')}`,
      comment: `src/${name} may import itself and the layers below it: see LAYERS in .dependency-cruiser.cjs.`,
      severity: 'error',
      from: { path: pathsOf([name]) },
      to: {
        path: pathsOf([
          ...LAYERS.slice(0, index).flat(),
          ...layer.filter((other) => other !== name)
        ])
      }
    }))
  // If the top layer had only one entry, its rule would forbid nothing.
).filter(({ to }) => to.path.length > 0)

/** @type {import('dependency-cruiser').IConfiguration} */
module.exports = {
  layers: LAYERS,
  forbidden: [
    ...layers,
    {
      name: 'control-is-served-only',
      comment:
        'Only these may import src/control/: app.ts and lazy-routes.ts to register the control routes, openapi/ to describe them, and client/ to export their types.',
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
        'src/client/ runs in browsers. From the server, Node and npm, it may import only types.',
      severity: 'error',
      from: { path: pathsOf(['client']) },
      to: { pathNot: pathsOf(['client']), dependencyTypesNot: ['type-only'] }
    },
    {
      name: 'inspector-by-the-client',
      comment:
        'src/inspector/ runs in browsers. Apart from types, it may import only Preact, src/client/ and two files of domain/.',
      severity: 'error',
      from: { path: pathsOf(['inspector']) },
      to: {
        pathNot: [
          npm('preact'),
          ...pathsOf(['inspector', 'client']),
          '^src/domain/(enums|shell)[.]ts$'
        ],
        dependencyTypesNot: ['type-only']
      }
    },
    {
      name: 'remote-over-http',
      comment:
        'src/remote/ talks to any server over HTTP. Elsewhere in src/, it may import only schemas.ts files, domain/, schema/ and platform/.',
      severity: 'error',
      from: { path: '^src/remote/([^/]+[.]ts$|probes/)' },
      to: {
        path: '^src/',
        pathNot: [
          '^src/remote/([^/]+[.]ts$|probes/)',
          ...pathsOf(['domain', 'schema', 'platform']),
          SCHEMAS
        ]
      }
    },
    {
      name: 'conformance-over-http',
      comment:
        'src/remote/conformance/ checks any server over HTTP. It may import only shared code of src/remote/, schemas.ts files, domain/, schema/ and platform/.',
      severity: 'error',
      from: { path: '^src/remote/conformance/' },
      to: {
        path: '^src/',
        pathNot: [
          '^src/remote/([^/]+[.]ts$|probes/|conformance/)',
          ...pathsOf(['domain', 'schema', 'platform']),
          SCHEMAS
        ]
      }
    },
    {
      name: 'recording-without-conformance',
      comment:
        'Put code that recording/, comparison/ and conformance/ share directly in src/remote/.',
      severity: 'error',
      from: { path: '^src/remote/(recording|comparison)/' },
      to: { path: '^src/remote/conformance/' }
    },
    {
      name: 'http-without-database',
      comment: 'src/http/ translates between HTTP and services, and gets data only from services.',
      severity: 'error',
      from: { path: pathsOf(['http']) },
      to: { path: [DRIZZLE, SQLITE, ...pathsOf(['db'])] }
    },
    {
      name: 'database-without-http',
      comment: 'src/db/ opens databases, and must work without a server.',
      severity: 'error',
      from: { path: pathsOf(['db']) },
      to: { path: FASTIFY }
    },
    {
      name: 'services-without-http',
      comment:
        'Services and repositories must not depend on HTTP requests or status codes, because tests and commands call them too.',
      severity: 'error',
      from: { path: [SERVICE, REPOSITORY] },
      to: { path: [...FASTIFY, ...pathsOf(['http']), ROUTES] }
    },
    {
      name: 'routes-through-services',
      comment:
        'A route or plugin reads the request and calls a service, which runs queries and transactions.',
      severity: 'error',
      from: { path: ROUTES },
      to: { path: [REPOSITORY, DRIZZLE, SQLITE, ...pathsOf(['db'])] }
    },
    {
      name: 'queries-in-repositories',
      comment:
        'A service contains the logic and opens transactions. Queries belong in repositories, each in a function of its own.',
      severity: 'error',
      from: { path: SERVICE },
      to: { path: [DRIZZLE, SQLITE] }
    },
    {
      name: 'repositories-below-services',
      comment: 'A repository only runs queries. It must not call a service.',
      severity: 'error',
      from: { path: REPOSITORY },
      to: { path: SERVICE }
    },
    {
      name: 'schemas-are-only-shapes',
      comment:
        'A schemas.ts file only describes data. It may import only TypeBox, domain/, schema/, platform/ and other schemas.ts files.',
      severity: 'error',
      from: { path: SCHEMAS },
      to: {
        pathNot: [npm('@sinclair/typebox'), ...pathsOf(['domain', 'schema', 'platform']), SCHEMAS]
      }
    },
    {
      name: 'source-stands-alone',
      comment: 'Published code must not import tests, benchmarks or build scripts.',
      severity: 'error',
      from: { path: '^src/' },
      to: { path: '^(test|bench|scripts|dist)/' }
    },
    {
      name: 'resolvable',
      comment:
        'The other rules miss imports that cannot be resolved, and imports of packages that package.json does not list.',
      severity: 'error',
      from: {},
      // dependency-cruiser counts optional peers as missing from package.json.
      to: {
        dependencyTypes: ['npm-no-pkg', 'npm-unknown', 'unknown', 'undetermined'],
        dependencyTypesNot: ['npm-peer']
      }
    },
    {
      name: 'no-cycles',
      comment: 'Merge files that import each other, or move their shared code to another file.',
      severity: 'error',
      from: {},
      to: { circular: true }
    },
    {
      name: 'no-orphans',
      comment:
        'A file without imports that no other file imports is dead code, unless it is an entry point.',
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
