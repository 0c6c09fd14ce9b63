/** Prints the TypeScript declarations of TypeBox schemas, for the package's declarations: those of TypeBox need TypeBox. */
import { mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { build } from 'esbuild'

/**
 * Returns the declarations for a source file that is nothing but `export type … from './file.js'`, each of which is the type
 * of a schema that is exported there under the same name; what is no schema is left out. With the schemas that they refer to.
 */
export async function clientTypes(root, file) {
  const { default: ts } = await import('typescript')
  const source = ts.createSourceFile(file, readFileSync(file, 'utf8'), ts.ScriptTarget.Latest)
  const exported = source.statements.filter(ts.isExportDeclaration)
  const contents = exported
    .map((statement) => statement.getText(source).replace(/^export type/, 'export'))
    .join('\n')
  const values = await evaluate(root, {
    contents,
    resolveDir: dirname(resolve(file)),
    loader: 'ts'
  })
  return declarations(
    Object.fromEntries(Object.entries(values).filter(([, value]) => typeof value === 'object'))
  )
}

/** Returns the entry `notification-mock/contract`: its declarations, and each of its schemas as a value. */
export async function contract(root) {
  const contents = "export * from './src/openapi/contract.ts'"
  const { CONTRACT, jsonSchemaOf } = await evaluate(root, {
    contents,
    resolveDir: root,
    loader: 'ts'
  })
  const schemas = Object.entries(CONTRACT)
  const values = schemas.map(([name, { enum: words }]) => {
    return `export declare const ${name}: ${words ? `JsonSchema & { enum: ${name}[] }` : `ObjectSchema<${name}>`}\n`
  })
  return {
    types: `${declarations(CONTRACT)}\n${JSON_SCHEMA}\n${values.join('')}`,
    schemas: Object.fromEntries(schemas.map(([name, schema]) => [name, jsonSchemaOf(name, schema)]))
  }
}

const JSON_SCHEMA = `/** A JSON Schema that stands alone: what it refers to is in its \`$defs\`. */
export interface JsonSchema {
  title: string
  [keyword: string]: unknown
}

/** One of objects that have these fields. */
export interface ObjectSchema<Fields> extends JsonSchema {
  type: 'object'
  properties: Record<keyof Fields, Record<string, unknown>>
  required: string[]
}
`

/** TypeBox has a registry of kinds, which is not that of the process: a test may run the source beside. */
const OWN_TYPEBOX = {
  name: 'own-typebox',
  setup({ onResolve }) {
    onResolve({ filter: /^[^./]/ }, ({ path }) =>
      path.startsWith('@sinclair/typebox') ? undefined : { path, external: true }
    )
  }
}

/** Returns what a module of the source exports. */
async function evaluate(root, stdin) {
  const folder = mkdtempSync(join(tmpdir(), 'notification-mock-source-'))
  try {
    symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'), 'junction')
    const outfile = join(folder, 'source.mjs')
    await build({
      stdin,
      bundle: true,
      platform: 'node',
      format: 'esm',
      plugins: [OWN_TYPEBOX],
      outfile,
      logLevel: 'warning'
    })
    return await import(pathToFileURL(outfile).href)
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** Returns `export interface` or `export type` for each schema. */
function declarations(schemas) {
  const printed = new Map()
  // What stands inside another one is the same object, or a copy with the same properties.
  const names = new Map(
    Object.entries(schemas).flatMap(([name, schema]) =>
      identities(schema).map((each) => [each, name])
    )
  )
  for (const [name, schema] of Object.entries(schemas)) print(name, schema)
  return [...printed.values()].join('\n')

  function print(name, schema) {
    if (printed.has(name)) return
    printed.set(name, '')
    const isObject = Object.keys(schema.properties ?? {}).length > 0
    const type = isObject ? objectType(schema, '') : typeOf(schema, '', false)
    const declaration = isObject
      ? `export interface ${name} ${type}`
      : `export type ${name} = ${type}`
    printed.set(name, `${comment(schema, '')}${declaration}\n`)
  }

  function typeOf(schema, indent, mayBeNamed = true) {
    const name = mayBeNamed && nameOf(schema)
    if (name) return name
    if (schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(' | ')
    if ('const' in schema) return JSON.stringify(schema.const)
    if (schema.anyOf) return schema.anyOf.map((each) => typeOf(each, indent)).join(' | ')
    if (Array.isArray(schema.type))
      return schema.type.map((type) => typeOf({ ...schema, type }, indent)).join(' | ')
    if (schema.type === 'array') return arrayType(typeOf(schema.items, indent))
    if (schema.type === 'object') return objectType(schema, indent)
    if (schema.type === 'integer') return 'number'
    return schema.type ?? 'unknown'
  }

  function nameOf(schema) {
    const known = identities(schema)
      .map((each) => names.get(each))
      .find(Boolean)
    if (known) return known
    const target = referredTo(schema)
    if (!target) return undefined
    const name =
      identities(target)
        .map((each) => names.get(each))
        .find(Boolean) ?? String(target.$id)
    print(name, target)
    return name
  }

  function objectType(schema, indent) {
    const properties = Object.entries(schema.properties ?? {})
    if (properties.length === 0) return `Record<string, ${valuesOf(schema, indent)}>`
    const inner = `${indent}  `
    const required = schema.required ?? []
    const lines = properties.map(([name, value]) => {
      const key = /^\w+$/.test(name) ? name : JSON.stringify(name)
      return `${comment(value, inner)}${inner}${key}${required.includes(name) ? '' : '?'}: ${typeOf(value, inner)}`
    })
    return `{\n${lines.join('\n')}\n${indent}}`
  }

  function valuesOf({ additionalProperties }, indent) {
    if (additionalProperties === false) return 'never'
    return typeof additionalProperties === 'object'
      ? typeOf(additionalProperties, indent)
      : 'unknown'
  }
}

/** The schema that a reference of core/typebox.ts leads to. */
function referredTo(schema) {
  if (!schema.$ref) return undefined
  return schema[Symbol.for('notification-mock/target')]()
}

const arrayType = (item) => (/^\w+$/.test(item) ? `${item}[]` : `Array<${item}>`)

function identities(schema) {
  return [schema, schema.properties].filter((each) => each && Object.keys(each).length > 0)
}

function comment({ description, deprecated }, indent) {
  const text = [description?.replaceAll('*/', '*\\/'), deprecated && '@deprecated']
    .filter(Boolean)
    .join(' ')
  return text && `${indent}/** ${text} */\n`
}
