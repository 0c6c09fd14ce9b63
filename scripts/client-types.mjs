/**
 * Converts TypeBox schemas to plain TypeScript declarations, so that users of the package's types
 * don't need TypeBox.
 */
import { mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { build } from 'esbuild'

/**
 * Returns the declarations for a source file that consists of `export type … from './file.js'`
 * lines. A type is declared only if the file that defines it also exports a schema of the same
 * name. Schemas that an exported schema refers to are declared too.
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
  return printDeclarations(
    Object.fromEntries(Object.entries(values).filter(([, value]) => typeof value === 'object'))
  )
}

/**
 * Returns the contents of the entry point `notification-mock/contract`: its type declarations, and
 * its JSON Schemas by name.
 */
export async function contract(root) {
  const contents = "export * from './src/openapi/contract.ts'"
  const { CONTRACT, jsonSchemaOf } = await evaluate(root, {
    contents,
    resolveDir: root,
    loader: 'ts'
  })
  const schemas = Object.entries(CONTRACT)
  const values = schemas.map(([name, schema]) => {
    const type = schema.enum ? `JsonSchema & { enum: ${name}[] }` : `ObjectSchema<${name}>`
    return `export declare const ${name}: ${type}\n`
  })
  return {
    types: `${printDeclarations(CONTRACT)}\n${JSON_SCHEMA}\n${values.join('')}`,
    schemas: Object.fromEntries(schemas.map(([name, schema]) => [name, jsonSchemaOf(name, schema)]))
  }
}

const JSON_SCHEMA = `/** A self-contained JSON Schema: \`$defs\` has the schemas it refers to. */
export interface JsonSchema {
  title: string
  [keyword: string]: unknown
}

/** A JSON Schema of objects with these fields. */
export interface ObjectSchema<Fields> extends JsonSchema {
  type: 'object'
  properties: Record<keyof Fields, Record<string, unknown>>
  required: string[]
}
`

/**
 * Bundles a separate copy of TypeBox with a module. In a test, the sources may already be loaded in
 * this process. Without a separate copy, the module and the sources would share TypeBox's registry
 * of kinds.
 */
const BUNDLED_TYPEBOX = {
  name: 'bundled-typebox',
  setup({ onResolve }) {
    onResolve({ filter: /^[^./]/ }, ({ path }) =>
      path.startsWith('@sinclair/typebox') ? undefined : { path, external: true }
    )
  }
}

/** Bundles a module with its local imports, loads the bundle, and returns the module's exports. */
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
      plugins: [BUNDLED_TYPEBOX],
      outfile,
      logLevel: 'warning'
    })
    return await import(pathToFileURL(outfile).href)
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/**
 * Returns an `export interface` or `export type` for each of these schemas and for every schema
 * that they refer to.
 */
function printDeclarations(schemas) {
  const printer = new DeclarationPrinter(schemas)
  for (const [name, schema] of Object.entries(schemas)) printer.declare(name, schema)
  return printer.text
}

class DeclarationPrinter {
  #declarations = new Map()
  #names

  constructor(schemas) {
    // Find the name of a nested schema by object identity. A nested schema is either the named
    // schema itself or a copy that shares its `properties` object.
    this.#names = new Map(
      Object.entries(schemas).flatMap(([name, schema]) =>
        identitiesOf(schema).map((identity) => [identity, name])
      )
    )
  }

  get text() {
    return [...this.#declarations.values()].join('\n')
  }

  declare(name, schema) {
    if (this.#declarations.has(name)) return
    // Reserve the name, because the schema may refer to itself.
    this.#declarations.set(name, '')
    const isObject = Object.keys(schema.properties ?? {}).length > 0
    const declaration = isObject
      ? `export interface ${name} ${this.#objectType(schema, '')}`
      : `export type ${name} = ${this.#anonymousType(schema, '')}`
    this.#declarations.set(name, `${comment(schema, '')}${declaration}\n`)
  }

  #typeOf(schema, indent) {
    return this.#nameOf(schema) ?? this.#anonymousType(schema, indent)
  }

  #anonymousType(schema, indent) {
    if (schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(' | ')
    if ('const' in schema) return JSON.stringify(schema.const)
    if (schema.anyOf) return schema.anyOf.map((option) => this.#typeOf(option, indent)).join(' | ')
    if (Array.isArray(schema.type)) {
      return schema.type.map((type) => this.#typeOf({ ...schema, type }, indent)).join(' | ')
    }
    return this.#simpleType(schema, indent)
  }

  #simpleType(schema, indent) {
    switch (schema.type) {
      case 'array':
        return arrayType(this.#typeOf(schema.items, indent))
      case 'object':
        return this.#objectType(schema, indent)
      case 'integer':
        return 'number'
      default:
        return schema.type ?? 'unknown'
    }
  }

  /**
   * Returns the name of a schema's declaration, or undefined if the schema is anonymous. If the
   * schema is a reference, also declares the schema that it points to.
   */
  #nameOf(schema) {
    const name = this.#declaredName(schema)
    if (name) return name
    const target = referenceTarget(schema)
    if (!target) return undefined
    const targetName = this.#declaredName(target) ?? String(target.$id)
    this.declare(targetName, target)
    return targetName
  }

  #declaredName(schema) {
    return identitiesOf(schema)
      .map((identity) => this.#names.get(identity))
      .find(Boolean)
  }

  #objectType(schema, indent) {
    const properties = Object.entries(schema.properties ?? {})
    if (properties.length === 0) return `Record<string, ${this.#valueType(schema, indent)}>`
    const inner = `${indent}  `
    const required = schema.required ?? []
    const lines = properties.map(([name, property]) => {
      const key = /^\w+$/.test(name) ? name : JSON.stringify(name)
      const mark = required.includes(name) ? '' : '?'
      return `${comment(property, inner)}${inner}${key}${mark}: ${this.#typeOf(property, inner)}`
    })
    return `{\n${lines.join('\n')}\n${indent}}`
  }

  #valueType({ additionalProperties }, indent) {
    if (additionalProperties === false) return 'never'
    const isSchema = typeof additionalProperties === 'object'
    return isSchema ? this.#typeOf(additionalProperties, indent) : 'unknown'
  }
}

/**
 * Returns the schema that a reference points to. src/schema/typebox.ts creates these references.
 */
function referenceTarget(schema) {
  if (!schema.$ref) return undefined
  return schema[Symbol.for('notification-mock/target')]()
}

const arrayType = (item) => (/^\w+$/.test(item) ? `${item}[]` : `Array<${item}>`)

/** Returns the objects that identify a schema: the schema itself and its `properties`. */
function identitiesOf(schema) {
  return [schema, schema.properties].filter(
    (identity) => identity && Object.keys(identity).length > 0
  )
}

function comment({ description, deprecated }, indent) {
  const text = [description?.replaceAll('*/', '*\\/'), deprecated && '@deprecated']
    .filter(Boolean)
    .join(' ')
  return text && `${indent}/** ${text} */\n`
}
