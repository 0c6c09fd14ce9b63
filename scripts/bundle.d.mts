/** Bundles the command, the library, the inspector and the docs page into a folder. */
export function bundle(dist: string): Promise<void>
