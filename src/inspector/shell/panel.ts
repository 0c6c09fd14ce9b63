export function environmentAddress(view: string, { name }: { name: string }): string {
  return `#/${view}?environment=${encodeURIComponent(name)}`
}
