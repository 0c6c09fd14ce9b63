import { type Command, Option } from 'commander'
import { assume, type Profile } from '../domain/assumptions.js'
import { addOptions, assumeOption, profileOption } from './options.js'
import { DEFAULT_URL } from './reach.js'

export function addCommands(root: Command): void {
  const command = root
    .command('openapi')
    .helpGroup('Inspect it:')
    .description('print the OpenAPI 3.1 document of the three operations as JSON')
  const control = new Option(
    '--control',
    'print the document of the control routes instead, regardless of --profile and --assume'
  )
  addOptions(command, [profileOption(), assumeOption(), control]).action(
    async (options: { profile: Profile; assume: Record<string, string>; control?: true }) => {
      const { controlDocument, openApiDocument } = await import('../openapi/documents.js')
      const document = options.control
        ? await controlDocument()
        : await openApiDocument(assume(options.profile, options.assume))
      const servers = [{ url: DEFAULT_URL, description: 'The default address' }]
      process.stdout.write(`${JSON.stringify({ ...document, servers }, null, 2)}\n`)
    }
  )
}
