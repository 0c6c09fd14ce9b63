import type { ViewProps } from '../view.js'

export function MessagesView(_: ViewProps) {
  return <h1>Messages</h1>
}
