/** The environment that the bench passes to the peers. */
import { certificateEnvironment } from "../setup/Certificate.ts"
import type { Fixture } from "../setup/Fixture.ts"

export function peerEnvironment(fixture: Fixture): { readonly [name: string]: string } {
  return {
    PUBLISHABLE_KEY: fixture.publishableKey,
    TOKEN_PUBLIC_KEY: JSON.stringify(fixture.publicKey),
    TOKEN_ISSUER: fixture.issuer.issuer,
    TOKEN_AUDIENCE: fixture.issuer.audience,
    ...certificateEnvironment(fixture.certificate)
  }
}
