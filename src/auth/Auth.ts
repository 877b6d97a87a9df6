/**
 * Provides all services that identify and authorize callers. Needs the database, the settings and a source of
 * randomness.
 */
import { Layer } from "effect"
import { Invalidations } from "../store/coordination/Invalidations.ts"
import { GateReports } from "../store/gate/GateReports.ts"
import { SequenceAccess } from "../store/experience/SequenceAccess.ts"
import { SecurityEvents } from "../store/organization/SecurityEvents.ts"
import { AttemptLimits } from "./codes/AttemptLimits.ts"
import { ApiKeys } from "./keys/ApiKeys.ts"
import { GateKeys } from "./keys/GateKeys.ts"
import { RehearsalKeys } from "./keys/RehearsalKeys.ts"
import { ChallengePolicies } from "./challenge/ChallengePolicies.ts"
import { Challenges } from "./challenge/Challenges.ts"
import { SpentSolutions } from "./challenge/SpentSolutions.ts"
import { TokenProviders } from "./challenge/TokenProviders.ts"
import { EntryRisks } from "./risk/EntryRisks.ts"
import { ConsumerAccounts } from "./sessions/ConsumerAccounts.ts"
import { Consumers } from "./sessions/Consumers.ts"
import { ConsumerSessions } from "./sessions/ConsumerSessions.ts"
import * as Expiry from "./sessions/Expiry.ts"
import { ExternalIdentities } from "./sessions/ExternalIdentities.ts"
import { GrantNames } from "./tokens/GrantNames.ts"
import { Grants } from "./tokens/Grants.ts"
import { OneTimeCodes } from "./codes/OneTimeCodes.ts"
import { OrganizationChanges } from "./keys/OrganizationChanges.ts"
import { OrganizationKeys } from "./keys/OrganizationKeys.ts"
import { Organizations } from "./keys/Organizations.ts"
import { Protection } from "./sessions/Protection.ts"
import { PageTokens } from "./tokens/PageTokens.ts"
import { Receipts } from "./tokens/Receipts.ts"
import { Revocations } from "./sessions/Revocations.ts"
import { Sessions } from "./sessions/Sessions.ts"
import { SigningKeys } from "./keys/SigningKeys.ts"
import { TokenLifetimes } from "./tokens/TokenLifetimes.ts"
import { Tokens } from "./tokens/Tokens.ts"
import { AlertTokens } from "./tokens/AlertTokens.ts"
import { VisitTokens } from "./tokens/VisitTokens.ts"

/** Sign-in of consumers. */
const signIn = Layer.mergeAll(OneTimeCodes.layer, ExternalIdentities.layer).pipe(
  Layer.provide(ConsumerAccounts.layer),
  Layer.provideMerge(Sessions.layer)
)

/** API keys, those of gates with what gates report, those of rehearsals, and the organizations they belong to. */
const keys = Layer.merge(OrganizationKeys.layer, OrganizationChanges.layer).pipe(
  Layer.provideMerge(Layer.mergeAll(ApiKeys.layer, GateKeys.layer, GateReports.layer, RehearsalKeys.layer))
)

/** The gate for bots. */
const gate = Challenges.layer.pipe(
  Layer.provide(Layer.mergeAll(ChallengePolicies.layer, SpentSolutions.layer, TokenProviders.layer))
)

export const layer = Layer.mergeAll(
  keys,
  gate,
  EntryRisks.layer,
  Consumers.layer,
  ConsumerSessions.layer,
  Grants.layer,
  Organizations.layer,
  PageTokens.layer,
  Protection.layer.pipe(Layer.provide(SequenceAccess.layer)),
  Receipts.layer,
  VisitTokens.layer,
  AlertTokens.layer,
  signIn,
  Expiry.layer
).pipe(
  Layer.provideMerge(Layer.merge(Tokens.layer, TokenLifetimes.layer)),
  Layer.provideMerge(Revocations.layer),
  Layer.provideMerge(SigningKeys.layer),
  Layer.provideMerge(Layer.mergeAll(AttemptLimits.layer, SecurityEvents.layer, GrantNames.layer)),
  Layer.provideMerge(Invalidations.layer)
)
