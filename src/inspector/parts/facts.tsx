import { JsonTree } from './json-tree.js'

/** The fields of a record, one below the other; what is an object stands as JSON. Undefined ones are left out. */
export function Facts({ values }: { values: object }) {
  const known = Object.entries(values).filter(([, value]) => value !== undefined && value !== null)
  const objects = known.filter(([, value]) => typeof value === 'object' && Object.keys(value).length > 0)
  return (
    <>
      <dl class="facts">
        {known.map(([name, value]) =>
          typeof value === 'object'
            ? null
            : [
                <dt key={name}>{name}</dt>,
                <dd key={`${name}:`} class="mono" dir="auto">
                  {String(value)}
                </dd>
              ]
        )}
      </dl>
      {objects.map(([name, value]) => (
        <section key={name}>
          <h3>{name}</h3>
          <JsonTree label={name} value={value} />
        </section>
      ))}
    </>
  )
}
