/** Returns true for an address or a name of an address that only this machine reaches. */
export const isLoopback = (host: string): boolean => /^(?:localhost|127(?:\.\d{1,3}){3}|::1)$/.test(host)
