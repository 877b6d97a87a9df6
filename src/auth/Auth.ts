/** All services of who is calling, on the database, the settings and a source of randomness. */
import { Layer } from "effect"
import { Invalidations } from "../store/Invalidations.ts"
import { SequenceAccess } from "../store/SequenceAccess.ts"
import { ApiKeys } from "./ApiKeys.ts"
import { ConsumerAccounts } from "./ConsumerAccounts.ts"
import { Consumers } from "./Consumers.ts"
import { ConsumerSessions } from "./ConsumerSessions.ts"
import * as Expiry from "./Expiry.ts"
import { ExternalIdentities } from "./ExternalIdentities.ts"
import { Grants } from "./Grants.ts"
import { OneTimeCodes } from "./OneTimeCodes.ts"
import { OrganizationChanges } from "./OrganizationChanges.ts"
import { OrganizationKeys } from "./OrganizationKeys.ts"
import { Organizations } from "./Organizations.ts"
import { Protection } from "./Protection.ts"
import { Receipts } from "./Receipts.ts"
import { Revocations } from "./Revocations.ts"
import { Sessions } from "./Sessions.ts"
import { SigningKeys } from "./SigningKeys.ts"
import { TokenLifetimes } from "./TokenLifetimes.ts"
import { Tokens } from "./Tokens.ts"

/** How a consumer gets a session. */
const signIn = Layer.mergeAll(OneTimeCodes.layer, ExternalIdentities.layer).pipe(
  Layer.provide(ConsumerAccounts.layer),
  Layer.provideMerge(Sessions.layer)
)

/** Who calls for an organization. */
const keys = Layer.merge(OrganizationKeys.layer, OrganizationChanges.layer).pipe(Layer.provideMerge(ApiKeys.layer))

export const layer = Layer.mergeAll(
  keys,
  Consumers.layer,
  ConsumerSessions.layer,
  Grants.layer,
  Organizations.layer,
  Protection.layer.pipe(Layer.provide(SequenceAccess.layer)),
  Receipts.layer,
  signIn,
  Expiry.layer
).pipe(
  Layer.provideMerge(Layer.merge(Tokens.layer, TokenLifetimes.layer)),
  Layer.provideMerge(Revocations.layer),
  Layer.provideMerge(SigningKeys.layer),
  Layer.provideMerge(Invalidations.layer)
)
