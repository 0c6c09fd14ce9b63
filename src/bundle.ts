/**
 * What the build bundles into one file. Each part is run when it is first asked for: a health check, made every few
 * seconds, needs no server.
 */
export const program = () => import('./cli/program.js')
export const library = () => import('./index.js')
export const template = () => import('./template.js')
export const validators = () => import('./validators.js')
