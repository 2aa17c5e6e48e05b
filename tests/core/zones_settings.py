"""Settings of a Django project whose own time is said by the environment."""

import os

SECRET_KEY = "not needed"
USE_TZ = os.environ["USE_TZ"] == "1"
TIME_ZONE = os.environ["TZ"]
