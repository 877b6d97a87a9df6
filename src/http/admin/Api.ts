/**
 * The Admin API: what an organization's server can do, with the secret key on every operation (completions 2 and 4).
 */
import { HttpApi } from "effect/http-api"
import { AdminKey } from "../Credentials.ts"
import { onEveryPost } from "../Idempotency.ts"
import { describe } from "../OpenApi.ts"
import { Validation } from "../Validation.ts"
import { AnalyticsApi } from "./AnalyticsApi.ts"
import { ApiKeyApi } from "./ApiKeyApi.ts"
import { AppointmentApi } from "./AppointmentApi.ts"
import { AuctionApi } from "./AuctionApi.ts"
import { AudienceApi } from "./AudienceApi.ts"
import { ConsumersApi } from "./ConsumerApi.ts"
import { DistributionApi } from "./DistributionApi.ts"
import { DrawApi } from "./DrawApi.ts"
import { ExperienceApi } from "./ExperienceApi.ts"
import { NodeApi } from "./NodeApi.ts"
import { OrganizationApi } from "./OrganizationApi.ts"
import { MediaAssetApi } from "./MediaAssetApi.ts"
import { OrderApi } from "./OrderApi.ts"
import { ExperiencePageApi } from "./ExperiencePageApi.ts"
import { OutboxApi } from "./OutboxApi.ts"
import { ProductApi } from "./ProductApi.ts"
import { QueueApi } from "./QueueApi.ts"
import { SequenceApi } from "./SequenceApi.ts"
import { SyncSourceApi } from "./SyncSourceApi.ts"
import { TimedReleaseApi } from "./TimedReleaseApi.ts"
import { VariantApi } from "./VariantApi.ts"
import { VariantOptionApi } from "./VariantOptionApi.ts"
import { WaitlistApi } from "./WaitlistApi.ts"

export const AdminApi = describe(
  HttpApi.make("admin")
    .add(OrganizationApi)
    .add(ApiKeyApi)
    .add(ExperienceApi)
    .add(ExperiencePageApi)
    .add(SequenceApi)
    .add(AudienceApi)
    .add(ConsumersApi)
    .add(QueueApi)
    .add(DrawApi)
    .add(AuctionApi)
    .add(AppointmentApi)
    .add(TimedReleaseApi)
    .add(WaitlistApi)
    .add(DistributionApi)
    .add(ProductApi)
    .add(VariantApi)
    .add(MediaAssetApi)
    .add(SyncSourceApi)
    .add(VariantOptionApi)
    .add(OrderApi)
    .add(AnalyticsApi)
    .add(NodeApi)
    .add(OutboxApi)
    .prefix("/api")
    .middleware(Validation)
    .pipe(onEveryPost)
    .middleware(AdminKey),
  {
    title: "Usher Admin API",
    description:
      "For an organization's server: experiences, their sequences, the mechanisms that release products to consumers, and what happens in them. Every operation needs the secret key. Every response carries `X-RateLimit-Limit`, `X-RateLimit-Remaining` and `X-RateLimit-Reset` (Unix seconds) of the limit with the least remaining; on a 429, of the limit that refused."
  }
)
