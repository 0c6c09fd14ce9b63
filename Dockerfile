# The build needs no compiler, because the database addon includes its binaries. The build stage
# copies only the binary for its own platform, so both stages must use the same Debian release and
# processor architecture.
FROM node:24-bookworm-slim AS build
WORKDIR /app

# Copy these files first, so that a change in src/ doesn't reinstall the packages.
COPY package.json package-lock.json .npmrc ./
RUN npm ci --no-audit --no-fund

COPY tsconfig.json ./
COPY scripts ./scripts
COPY migrations ./migrations
COPY seeds ./seeds
COPY src ./src
RUN npm run build
# Keep only the files that the server uses: no sources, and no binaries for other platforms.
RUN mkdir addon \
    && cd node_modules/better-sqlite3 \
    && cp -r --parents package.json LICENSE lib "prebuilds/linux-$(node -p process.arch).node" ../../addon

FROM node:24-bookworm-slim
ENV NODE_ENV=production \
    NOTIFICATION_MOCK_HOST=0.0.0.0 \
    NOTIFICATION_MOCK_DATA=/data/notification-mock.db
WORKDIR /app

# Mount a volume on /data to keep the data. There is no VOLUME instruction, because each
# `docker run` would leave an anonymous volume, and a container in CI should start empty. With mode
# 1777, the container can run as any `--user`.
RUN mkdir /data && chown node:node /data && chmod 1777 /data

COPY LICENSE package.json llms.txt ./
COPY docs/*.md ./docs/
COPY migrations ./migrations
COPY seeds ./seeds
# Every package except the addon is bundled.
COPY --from=build /app/addon ./node_modules/better-sqlite3
COPY --from=build /app/dist ./dist

USER node
EXPOSE 4210
# To change the port, set NOTIFICATION_MOCK_PORT or PORT, which the server and the health check both
# read. Don't use --port, because the health check can't see the server's flags.
HEALTHCHECK --interval=3s --timeout=3s --start-period=10s --retries=3 \
    CMD ["node", "dist/cli/index.js", "healthcheck"]
# Start Node directly, because npm doesn't pass on the signal that stops the server.
ENTRYPOINT ["node", "dist/cli/index.js"]
CMD ["serve"]
