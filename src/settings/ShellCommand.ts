/** The command line as an operator types it. */

/** Returns the text that runs a command of Usher in the folder of its source, where `npm ci` puts no `usher` on the path. */
export const shellCommand = (command: string): string => `npm run usher -- ${command}`

/** What creates an organization, and prints its keys. */
export const createsOrganization = shellCommand("organizations create --name NAME")
