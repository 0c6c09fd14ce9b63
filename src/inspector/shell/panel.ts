export { withParam } from './router.js'

export function environmentAddress(view: string, { name }: { name: string }): string {
  return `#/${view}?environment=${encodeURIComponent(name)}`
}
