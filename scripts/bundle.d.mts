/** Makes what is run of dist/, in this folder. */
export function bundle(dist: string): Promise<void>
