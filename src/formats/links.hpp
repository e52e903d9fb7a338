#pragma once
#include "io/links.hpp"
