import type { Integration } from '../../../client/index.js'

/** The fields of an integration that its forms show at once. */
export const MAIN_FIELDS = ['channel', 'providerId', 'name', 'identifier', 'active', 'primary', 'credentials']

/** Whether an integration is primary, and whether it is in use. */
export function Marks({ integration: { primary, active, deleted } }: { integration: Integration }) {
  return (
    <span class="marks">
      {primary && <span class="badge is-accent">primary</span>}
      {deleted ? (
        <span class="badge is-bad">deleted</span>
      ) : (
        <span class={active ? 'badge is-good' : 'badge is-warn'}>{active ? 'active' : 'not active'}</span>
      )}
    </span>
  )
}
