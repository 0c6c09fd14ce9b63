import type { Command } from 'commander'
import { DEFAULTS } from '../config.js'
import { assume, type Profile } from '../core/assumptions.js'
import { addOptions, assumeOption, profileOption } from './options.js'

export function addOpenapi(program: Command): void {
  const command = program
    .command('openapi')
    .description('print the OpenAPI 3.1 document of the three operations, as JSON')
  addOptions(command, [profileOption(), assumeOption()]).action(
    async (options: { profile: Profile; assume: Record<string, string> }) => {
      const { openApiDocument } = await import('./work.js')
      const document = await openApiDocument(assume(options.profile, options.assume))
      const servers = [{ url: `http://${DEFAULTS.host}:${DEFAULTS.port}`, description: 'The default address' }]
      process.stdout.write(`${JSON.stringify({ ...document, servers }, null, 2)}\n`)
    }
  )
}
