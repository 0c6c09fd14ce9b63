/** The SVG path of each icon, drawn in a view box of 16 by 16. */
const PATHS = {
  requests: 'M3 4.5h10M3 8h10M3 11.5h6',
  mail: 'M2.5 3.5h11v9h-11zM2.5 5 8 9l5.5-4',
  plug: 'M6 2.500v3M10 2.500v3M4.5 5.500h7V8a3.5 3.5 0 0 1-7 0zM8 11.500v2',
  flow:
    'M5.7 4a1.7 1.7 0 1 1-3.4 0 1.7 1.7 0 0 1 3.4 0z' +
    'M13.7 8a1.7 1.7 0 1 1-3.4 0 1.7 1.7 0 0 1 3.4 0z' +
    'M5.7 12a1.7 1.7 0 1 1-3.4 0 1.7 1.7 0 0 1 3.4 0z' +
    'M5.7 4.300C8 5 8 7 10.3 7.700M5.7 11.700C8 11 8 9 10.3 8.3',
  ring: 'M13.2 8A5.2 5.2 0 1 1 8 2.800M8 2.800V8h5.200A5.2 5.2 0 0 0 8 2.800z',
  clock: 'M13.2 8A5.2 5.2 0 1 1 2.8 8a5.2 5.2 0 0 1 10.4 0zM8 5v3l2 1.3',
  bolt: 'M8.7 2 4 9h3.500L7 14l5-7H8.400z',
  find: 'M11 7a4 4 0 1 1-8 0 4 4 0 0 1 8 0zM10 10l3.2 3.2',
  again: 'M12.8 8a4.8 4.8 0 1 1-1.5-3.500M12.8 2.500v2.700h-2.7',
  send: 'M13.5 2.5 9.5 13.500 7 9 2.5 6.500zM7 9l6.5-6.500',
  more: 'M3.5 8h.01M8 8h.01M12.5 8h.01',
  up: 'm4.5 9.5 3.5-3.5 3.5 3.5',
  down: 'm4.5 6.5 3.5 3.5 3.5-3.5',
  close: 'm4 4 8 8M12 4l-8 8',
  check: 'm3.5 8.5 3 3 6-7',
  warn: 'M8 3 2.5 12.500h11zM8 6.500v3M8 11.200h.01',
  copy: 'M5.5 5.500h7v7h-7zM3.5 10.500v-7h7',
  diamond: 'M8 4 12 8 8 12 4 8zM8 6.500 9.500 8 8 9.500 6.500 8z',
  bell:
    'M8 2.500a3.8 3.8 0 0 0-3.8 3.800c0 3.4-1.2 4.2-1.2 4.200h10s-1.2-.8-1.2-4.200' +
    'A3.8 3.8 0 0 0 8 2.500zM6.7 12.700a1.4 1.4 0 0 0 2.6 0'
}

export type IconName = keyof typeof PATHS

/**
 * An icon that is hidden from screen readers. Always add a label or visible text with the same
 * meaning.
 */
export function Icon({ name }: { name: IconName }) {
  return (
    <svg class="icon" viewBox="0 0 16 16" aria-hidden="true">
      <path d={PATHS[name]} />
    </svg>
  )
}
